-- Which answers a pair of temperatures is of: a model may have been asked under several settings at one temperature.
ALTER TABLE temperature_tests ADD COLUMN lower_key VARCHAR;     -- model_key of the lower temperature
ALTER TABLE temperature_tests ADD COLUMN higher_key VARCHAR;

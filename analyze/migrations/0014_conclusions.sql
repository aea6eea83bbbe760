-- What the tests of a value say together; a verdict is what a judge gives.
ALTER TABLE value_tests RENAME COLUMN verdict TO conclusion;

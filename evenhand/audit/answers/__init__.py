"""Reading answers: what every domain needs, and the general reader by the form of an answer."""

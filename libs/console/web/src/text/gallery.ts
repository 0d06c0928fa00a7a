/** Texts that fill the components of the gallery, whose names are its headings. */
export const gallery = {
  title: "Gallery",
  one: "One",
  two: "Two",
  disabled: "Disabled",
  wrong: "Wrong",
  sentence: "A sentence that is long enough to be broken where there is little room for it.",
};

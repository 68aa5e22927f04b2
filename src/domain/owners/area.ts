/** The area adds nothing to the lists of `src/domain`. */
export {};

export const known = 42;

/**
 * The seed for what a test draws by chance: the same in every run, unless the variable names another. It is printed, so that a run
 * can be repeated.
 */
export function readSeed(variable: string, usual = 1): number {
  const seed = Number(process.env[variable] ?? usual);
  if (!Number.isSafeInteger(seed)) throw new Error(`${variable} must be a whole number`);
  console.log(`${variable}=${seed}`);
  return seed;
}

/** Reads a number in digits. Any other text stays as it was typed, so that the operation says what is wrong with it. */
export function readWholeNumber(text: string): number | string {
  const typed = text.trim();
  return /^\d{1,16}$/.test(typed) ? Number(typed) : typed;
}

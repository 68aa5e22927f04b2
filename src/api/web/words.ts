/** An error's message as a sentence of a page: "permission denied" becomes "Permission denied." */
export function toSentence(message: string): string {
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** What is wrong with a field, for a place beside that field: `field "name" must …` becomes "Must …". */
export function withoutSubject(message: string): string {
  return toSentence(message.replace(/^field "[^"]*" ?:? ?|^\w+: /, ''));
}

/** A time to wait, as people say it; minutes are rounded up, so that nobody comes too early. */
export function inWords(seconds: number): string {
  if (seconds <= 90) return count(Math.max(1, Math.ceil(seconds)), 'second');
  return count(Math.ceil(seconds / 60), 'minute');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Turns an error's message into a sentence: "permission denied" becomes "Permission denied." */
export function toSentence(message: string): string {
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Turns a problem of a field into a sentence beside that field: `field "name" must …` becomes "Must …." */
export function toFieldProblem(message: string): string {
  return toSentence(message.replace(/^field "[^"]*" ?:? ?|^\w+: /, ''));
}

/** A waiting time in seconds or minutes, rounded up, so that a retry is never early. */
export function formatDuration(seconds: number): string {
  if (seconds <= 90) return pluralize(Math.max(1, Math.ceil(seconds)), 'second');
  return pluralize(Math.ceil(seconds / 60), 'minute');
}

function pluralize(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

import { explainDenial, type Labels, toPlainWords } from './plain-words.ts';

/** Begins with an identifier, such as `var.size` or `main.tf:`, rather than with a word. */
const beginsWithName = /^\w+(?:[._/][\w./-]*\w)/;

/** Turns an error's message into a sentence: "permission denied" becomes "Permission denied." A name such as `var.size` stays as it is. */
export function toSentence(text: string): string {
  const message = explainDenial(text);
  const sentence = beginsWithName.test(message) ? message : message.charAt(0).toUpperCase() + message.slice(1);
  return endSentence(sentence);
}

/** Ends a sentence whose beginning is written before this text. */
export function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/**
 * Turns a problem of a field or filter into a sentence beside it, in plain words: `field "name" is required` becomes `Enter a value.`
 * @param path the path of the field, if it is known: without it, a path with a quote, a space or an index cannot be told from the words
 * around it
 */
export function toFieldProblem(message: string, path?: string, labels?: Labels): string {
  const subjects = path ? [`field "${path}"`, `field ${path}`, `${path}:`] : [];
  const subject = subjects.find((each) => message.startsWith(each));
  const bare =
    subject === undefined ? message.replace(/^\w+: /, '') : message.slice(subject.length).replace(/^:? ?/, '');
  return toSentence(toPlainWords(bare, labels));
}

/** Capitalizes a label: "requester" becomes "Requester". */
export function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** A waiting time in seconds or minutes, rounded up, so that a retry is never early. */
export function formatDuration(seconds: number): string {
  if (seconds <= 90) return pluralize(Math.max(1, Math.ceil(seconds)), 'second');
  return pluralize(Math.ceil(seconds / 60), 'minute');
}

/** A number with what it counts: "1 change", "1,200 changes". */
export function pluralize(number: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(number)} ${number === 1 ? noun : plural}`;
}

/** A number with separators: "1,200". */
export function formatCount(number: number): string {
  return number.toLocaleString('en');
}

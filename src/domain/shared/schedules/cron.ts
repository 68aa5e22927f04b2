/** Cron expressions of five fields, as crontab and Temporal read them alike. What the two read differently is refused. */

/** The values that each field of an expression allows, ascending. Sunday is 0. */
export interface CronFields {
  readonly minute: readonly number[];
  readonly hour: readonly number[];
  readonly dayOfMonth: readonly number[];
  readonly month: readonly number[];
  readonly dayOfWeek: readonly number[];
}

interface FieldRule {
  readonly key: keyof CronFields;
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** Names of the values from `least` on. */
  readonly names?: readonly string[];
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

const fieldRules: readonly FieldRule[] = [
  { key: 'minute', name: 'minute', least: 0, most: 59 },
  { key: 'hour', name: 'hour', least: 0, most: 23 },
  { key: 'dayOfMonth', name: 'day of the month', least: 1, most: 31 },
  { key: 'month', name: 'month', least: 1, most: 12, names: months },
  // 7 is Sunday, too.
  { key: 'dayOfWeek', name: 'day of the week', least: 0, most: 7, names: weekdays },
];

/** Longer expressions mean nothing that a shorter one does not. */
export const longestCron = 200;

/** What is wrong with an expression, and what would be right. */
export class InvalidCron extends Error {}

/** @throws InvalidCron */
export function parseCron(expression: string): CronFields {
  const texts = expression.trim().split(/\s+/);
  if (texts.length !== fieldRules.length || expression.length > longestCron) {
    throw new InvalidCron(
      'expected five fields: minute, hour, day of the month, month and day of the week, such as "0 18 * * MON-FRI"',
    );
  }
  const sets = fieldRules.map((rule, index) => [rule.key, parseField(rule, texts[index] ?? '')]);
  const fields = Object.fromEntries(sets) as unknown as CronFields;
  if (isRestricted(fields.dayOfMonth, 31) && isRestricted(fields.dayOfWeek, 7)) {
    throw new InvalidCron('expected "*" as the day of the month or as the day of the week: limit one of them only');
  }
  return fields;
}

function isRestricted(values: readonly number[], all: number): boolean {
  return values.length < all;
}

function parseField(rule: FieldRule, text: string): number[] {
  const values = new Set(text.split(',').flatMap((part) => parsePart(rule, part)));
  const known = rule.key === 'dayOfWeek' ? [...values].map((day) => day % 7) : [...values];
  return [...new Set(known)].sort((a, b) => a - b);
}

const part = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d{1,2}))?$/;

/** All values, one, or a range, each with a step or without. */
function parsePart(rule: FieldRule, text: string): number[] {
  const [matched, star, first, last, stepText] = part.exec(text) ?? [];
  const range = star ? fullRange(rule) : [first, last ?? first].map((value) => parseValue(rule, value));
  const [from, to] = range;
  const step = stepText === undefined ? 1 : Number(stepText);
  const isStepOfOne = stepText !== undefined && !star && last === undefined;
  if (matched === undefined || from == null || to == null || step === 0 || isStepOfOne) throw invalidPart(rule, text);
  if (from > to) {
    throw new InvalidCron(`the range "${text}" of the ${rule.name} ends before it begins: write two ranges instead`);
  }
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
}

function fullRange({ key, least, most }: FieldRule): [number, number] {
  return [least, key === 'dayOfWeek' ? 6 : most];
}

function parseValue({ least, most, names = [] }: FieldRule, text: string | undefined): number | null {
  const named = names.indexOf(text?.toUpperCase() ?? '');
  if (named >= 0) return named + least;
  const value = /^\d{1,2}$/.test(text ?? '') ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : null;
}

function invalidPart({ name, least, most, names }: FieldRule, text: string): InvalidCron {
  const values = names ? `${least} to ${most} or ${names[0]} to ${names.at(-1)}` : `${least} to ${most}`;
  const forms = 'a value, a range such as "1-5", a list with commas, or a step such as "*/2"';
  return new InvalidCron(`"${text}" is no ${name}: expected ${forms}, with values from ${values}`);
}

/** Cron expressions of five fields, as crontab and Temporal read them alike. Expressions that the two read differently are refused. */

/** The values that each field of an expression allows, ascending. Sunday is 0. */
export interface CronFields {
  readonly minute: readonly number[];
  readonly hour: readonly number[];
  readonly dayOfMonth: readonly number[];
  readonly month: readonly number[];
  readonly dayOfWeek: readonly number[];
}

interface FieldRule {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** A second number that means `min`, such as 7 for Sunday. */
  readonly alsoLeast?: number;
  /** Names of the values from `min` on. */
  readonly names?: readonly string[];
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

const fieldRules: Readonly<Record<keyof CronFields, FieldRule>> = {
  minute: { name: 'minute', min: 0, max: 59 },
  hour: { name: 'hour', min: 0, max: 23 },
  dayOfMonth: { name: 'day of the month', min: 1, max: 31 },
  month: { name: 'month', min: 1, max: 12, names: months },
  dayOfWeek: { name: 'day of the week', min: 0, max: 6, alsoLeast: 7, names: weekdays },
};

/** The maximum length of an expression, in characters; every schedule can be written shorter. */
export const maxCronLength = 200;

/** An expression is invalid. The message says what is wrong and what would be right. */
export class InvalidCron extends Error {}

/** @throws InvalidCron */
export function parseCron(expression: string): CronFields {
  const texts = expression.trim().split(/\s+/);
  if (texts.length !== 5 || expression.length > maxCronLength) {
    throw new InvalidCron(
      'expected five fields: minute, hour, day of the month, month and day of the week, such as "0 18 * * MON-FRI"',
    );
  }
  const [minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = texts;
  const fields: CronFields = {
    minute: parseField(fieldRules.minute, minute),
    hour: parseField(fieldRules.hour, hour),
    dayOfMonth: parseField(fieldRules.dayOfMonth, dayOfMonth),
    month: parseField(fieldRules.month, month),
    dayOfWeek: parseField(fieldRules.dayOfWeek, dayOfWeek),
  };
  if (isRestricted(fields.dayOfMonth, 31) && isRestricted(fields.dayOfWeek, 7)) {
    throw new InvalidCron('expected "*" as the day of the month or as the day of the week: limit one of them only');
  }
  return fields;
}

function isRestricted(values: readonly number[], all: number): boolean {
  return values.length < all;
}

function parseField(rule: FieldRule, text: string): number[] {
  const listed = text.split(',').flatMap((part) => parsePart(rule, part));
  const values = listed.map((value) => (value === rule.alsoLeast ? rule.min : value));
  return [...new Set(values)].sort((a, b) => a - b);
}

const part = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d{1,2}))?$/;

/** Parses all values (`*`), one value or a range, each with an optional step. */
function parsePart(rule: FieldRule, text: string): number[] {
  const [matched, star, first, last, stepText] = part.exec(text) ?? [];
  const range = star ? [rule.min, rule.max] : [first, last ?? first].map((value) => parseValue(rule, value));
  const [from, to] = range;
  const step = stepText === undefined ? 1 : Number(stepText);
  const isStepOfOne = stepText !== undefined && !star && last === undefined;
  if (matched === undefined || from == null || to == null || step === 0 || isStepOfOne) throw invalidPart(rule, text);
  if (from > to) {
    throw new InvalidCron(`the range "${text}" of the ${rule.name} ends before it begins: write two ranges instead`);
  }
  if (step > Math.max(1, to - from)) {
    throw new InvalidCron(`the step in "${text}" leads past every ${rule.name} but the first: name that one alone`);
  }
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
}

function parseValue({ min, max, alsoLeast = max, names = [] }: FieldRule, text: string | undefined): number | null {
  const named = names.indexOf(text?.toUpperCase() ?? '');
  if (named >= 0) return named + min;
  const value = /^\d{1,2}$/.test(text ?? '') ? Number(text) : Number.NaN;
  return value >= min && value <= Math.max(max, alsoLeast) ? value : null;
}

function invalidPart({ name, min, max, alsoLeast = max, names }: FieldRule, text: string): InvalidCron {
  const numbers = `${min} to ${alsoLeast}`;
  const values = names ? `${numbers} or ${names[0]} to ${names.at(-1)}` : numbers;
  const forms = 'a value, a range such as "1-5", a list with commas, or a step such as "*/2"';
  return new InvalidCron(`"${text}" is not a valid ${name}: expected ${forms}, with values from ${values}`);
}

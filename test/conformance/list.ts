import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Line } from './outcomes.ts';

/** The list of names with their outcomes, a line each. Each is written when it is known, so that a later run can go on. */
export class OutcomeList {
  readonly #path: string | null;
  readonly #lines = new Map<string, Line>();

  /** @param isResumed whether the lines of the file are kept, and only the configurations compared that it lacks or that differed */
  constructor(path: string | null, isResumed: boolean) {
    this.#path = path;
    if (path === null) return;
    if (isResumed && existsSync(path)) for (const line of readLines(path)) this.#lines.set(keyOf(line), line);
    this.#write();
  }

  has(name: string, tool: string): boolean {
    return this.#lines.has(keyOf({ name, tool }));
  }

  add(line: Line): void {
    this.#lines.set(keyOf(line), line);
    if (this.#path !== null) appendFileSync(this.#path, `${textOf(line)}\n`);
  }

  /** Sorts the file. */
  finish(): readonly Line[] {
    if (this.#path !== null) this.#write();
    return [...this.#lines.values()];
  }

  #write(): void {
    const texts = [...this.#lines.values()].map(textOf).sort();
    writeFileSync(this.#path ?? '', texts.map((text) => `${text}\n`).join(''));
  }
}

function keyOf({ name, tool }: Pick<Line, 'name' | 'tool'>): string {
  return `${name}\t${tool}`;
}

function textOf({ name, tool, outcome, details }: Line): string {
  return [name, tool, outcome, ...details].map((part) => part.replaceAll(/[\t\r\n]+/g, ' ')).join('\t');
}

/** A line that an interruption cut off is left out. */
function readLines(path: string): Line[] {
  const whole = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return whole.flatMap((text) => {
    const [name, tool, outcome, ...details] = text.split('\t');
    const known = outcomes.find((each) => each === outcome);
    return name === undefined || tool === undefined || known === undefined || known === 'differs'
      ? []
      : [{ name, tool, outcome: known, details }];
  });
}

const outcomes = ['same', 'same error', 'explained', 'differs', 'left out'] as const satisfies Line['outcome'][];

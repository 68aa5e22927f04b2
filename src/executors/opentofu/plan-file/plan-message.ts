import { Decimal } from '#domain/shared/values/decimal.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';
import type { ToolName } from '#domain/tools/model.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import { areGiven } from './addresses.ts';
import { readMessagePack } from './message-pack.ts';

/** The parts of a plan's binary message that reviewers do not see. The tool itself shows the changes. */

/** Numbers of fields, the same in both tools. */
const fields = {
  variables: 2,
  targets: 5,
  excludes: 6,
  backend: 13,
  replaced: 16,
  mode: 17,
  /** Names of variables whose values the apply needs again. */
  ephemeral: { opentofu: 22, terraform: 28 },
  stateStore: 29,
  actionTargets: 32,
  /** An experiment of OpenTofu. If a plan has it, it replaces everything else. */
  graph: 500_000_000,
} as const;
const modes: Readonly<Record<RunOperation, number>> = { apply: 0, plan: 0, scan: 0, destroy: 1, refresh: 2 };

/** The addresses that the attempt requested. */
export interface PlanOptions {
  readonly targets: readonly string[];
  readonly excludes: readonly string[];
  readonly replaced: readonly string[];
}

interface MessageInputs {
  readonly tool: ToolName;
  readonly operation: RunOperation;
  readonly options: PlanOptions;
  readonly variables: Buffer;
  /** Whether the root module declares a variable. */
  readonly isDeclared: (variable: string) => boolean;
  /** Whether the template's own files set a variable. */
  readonly isOwn: (variable: string) => boolean;
}

/** @throws Error that says what differs from the attempt's inputs */
export function verifyPlanMessage(message: Buffer, inputs: MessageInputs): void {
  const { operation, options } = inputs;
  const found = [...readFields(message)].filter(({ number }) => isChecked(number));
  const fieldsOf = (number: number) => found.filter((field) => field.number === number);
  verifyBackend(onlyField(found, fields.backend));
  for (const name of ['targets', 'excludes', 'replaced'] as const) {
    // The tools may write an address once that was requested twice, or not at all.
    const addresses = fieldsOf(fields[name]).map(({ bytes }) => (bytes ?? nothing).toString());
    const isGiven = addresses.length <= options[name].length && areGiven(addresses, options[name]);
    if (!isGiven) throw new Error(`it has other options: ${name}`);
  }
  for (const name of ['stateStore', 'actionTargets', 'graph'] as const) {
    if (fieldsOf(fields[name]).length > 0) throw new Error(`it has other options: ${name}`);
  }
  if ((onlyField(found, fields.mode)?.value ?? 0) !== modes[operation]) throw new Error('it is for another operation');
  verifyVariables(found, inputs);
}

const checked: readonly number[] = Object.values(fields).flatMap((field) =>
  typeof field === 'number' ? [field] : Object.values(field),
);

function isChecked(number: number): boolean {
  return checked.includes(number);
}

/** An apply uses the backend that the plan names. */
function verifyBackend(field: Field | null): void {
  const backend = [...readFields(field?.bytes ?? nothing)];
  const text = (number: number) => onlyField(backend, number)?.bytes?.toString();
  const config = [...readFields(onlyField(backend, 2)?.bytes ?? nothing)];
  const settings = readMessagePack(onlyField(config, 1)?.bytes ?? nothing);
  const isOurs = isObject(settings) && Object.values(settings).every((value) => value === null);
  if (!isOurs || text(1) !== 'http' || text(3) !== 'default') throw new Error('it has another backend');
}

/**
 * Compares the variables. The tool stores values as they were before it converts them. If the plan has a variable that the attempt did not
 * set, the template's own files must set it. The values in these files are not compared.
 */
function verifyVariables(found: readonly Field[], { tool, variables, isDeclared, isOwn }: MessageInputs): void {
  const given = parseJson(variables);
  if (!isObject(given)) return;
  const kept = new Map<string, JsonValue>();
  for (const { bytes } of found.filter(({ number }) => number === fields.variables)) {
    const entry = [...readFields(bytes ?? nothing)];
    const name = onlyField(entry, 1)?.bytes?.toString() ?? '';
    if (kept.has(name)) throw new Error(`it has the variable "${name}" twice`);
    const value = [...readFields(onlyField(entry, 2)?.bytes ?? nothing)];
    kept.set(name, readMessagePack(onlyField(value, 1)?.bytes ?? nothing));
  }
  const later = found.filter(({ number }) => number === fields.ephemeral[tool]).map(({ bytes }) => bytes?.toString());
  for (const [name, value] of Object.entries(given)) {
    const isSet = kept.has(name) ? isSame(value, kept.get(name) ?? null) : !isDeclared(name) || later.includes(name);
    if (!isSet) throw new Error(`its variable "${name}" has another value`);
  }
  const added = [...kept.keys()].find((name) => !Object.hasOwn(given, name) && !isOwn(name));
  if (added !== undefined) throw new Error(`its variable "${added}" was not given`);
}

const nothing = Buffer.alloc(0);

/** The minimum number of digits of a number that the tools keep. */
const maxDigits = 150;

function isSame(given: JsonValue, found: JsonValue): boolean {
  if (typeof given === 'number' || given instanceof Decimal) return isSameNumber(given, found);
  if (typeof given === 'string') return typeof found === 'string' && normal(given) === normal(found);
  if (Array.isArray(given)) {
    if (!Array.isArray(found) || found.length !== given.length) return false;
    return given.every((item, index) => isSame(item, found[index] ?? null));
  }
  if (!isObject(given)) return given === found;
  if (!isObject(found)) return false;
  const members = new Map(Object.entries(found).map(([key, value]) => [normal(key), value]));
  const names = new Set(Object.keys(given).map(normal));
  if (names.size !== members.size) return false;
  return Object.entries(given).every(([key, value]) => isSame(value, members.get(normal(key)) ?? null));
}

function isSameNumber(given: number | Decimal, found: JsonValue): boolean {
  if (typeof found !== 'number' && typeof found !== 'string' && !(found instanceof Decimal)) return false;
  if (String(given).replace(/\D/g, '').length > maxDigits) return true;
  const form = (value: number | string | Decimal) => String(Decimal.read(String(value)));
  return form(given) === form(found);
}

/** The tools normalize strings in this way. */
function normal(text: string): string {
  return text.normalize('NFC');
}

/** Reads the parts of a plan that the service checks. They are messages of Protocol Buffers. */

interface Field {
  readonly number: number;
  /** The content of a string, of bytes or of a message; null for a number. */
  readonly bytes: Buffer | null;
  /** The value of a number; 0 for other fields. */
  readonly value: number;
}

/** Yields the fields of a message in their order. @throws Error if it is not a message */
function* readFields(message: Buffer): Generator<Field> {
  let at = 0;
  while (at < message.length) {
    const key = readVarint(message, at);
    at = key.end;
    const number = Math.floor(key.value / 8);
    const type = key.value % 8;
    if (type === 0) {
      const { value, end } = readVarint(message, at);
      yield { number, bytes: null, value };
      at = end;
    } else {
      const length = type === 2 ? readVarint(message, at) : { value: fixedLength(type), end: at };
      at = length.end + length.value;
      if (at > message.length) throw new Error('it ends within a field');
      yield { number, bytes: message.subarray(length.end, at), value: 0 };
    }
  }
}

/** The content of the only field with a number; null if there is none. @throws Error if there are several */
function onlyField(fields: readonly Field[], number: number): Field | null {
  const found = fields.filter((field) => field.number === number);
  if (found.length > 1) throw new Error(`it has the field ${number} twice`);
  return found[0] ?? null;
}

function fixedLength(type: number): number {
  if (type === 1) return 8;
  if (type === 5) return 4;
  throw new Error('it has a field of an unknown type');
}

function readVarint(bytes: Buffer, start: number): { value: number; end: number } {
  let value = 0;
  for (let index = 0; index < 10; index++) {
    const byte = bytes[start + index];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, end: start + index + 1 };
  }
  throw new Error('it ends within a number');
}

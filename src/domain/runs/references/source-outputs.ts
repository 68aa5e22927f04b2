import type { Em } from '#database/database.ts';
import { readState } from '#domain/instances/state/state.ts';
import { readStateVersion } from '#domain/instances/state/version-store.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { parseExactJson } from '#domain/shared/values/exact-json.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import { openSourceOutputs, type Source } from './sources-store.ts';

/** The maximum bytes that one request opens in total, and the maximum bytes of one state. They are opened on the main thread. */
const maxBytes = 64 * 1024 * 1024;
const maxState = 16 * 1024 * 1024;

/** The entries of a state for its outputs, by their names. */
export type StateOutputs = ReadonlyMap<string, { readonly [member: string]: JsonValue }>;

const none: StateOutputs = new Map();

/** Opens the outputs of instances for one request: each instance once, up to a total size. */
export class SourceOutputs {
  readonly #em: Em;
  readonly #keyRing: KeyRing;
  readonly #outputs = new Map<string, MaskedOutputs | null>();
  readonly #states = new Map<string, StateOutputs | null>();
  #left = maxBytes;

  constructor(em: Em, keyRing: KeyRing) {
    this.#em = em;
    this.#keyRing = keyRing;
  }

  /** The outputs, secret ones included; null: they would exceed the total size. They never leave the domain unsealed. */
  async open(source: Source): Promise<MaskedOutputs | null> {
    const known = this.#outputs.get(source.id);
    if (known !== undefined) return known;
    const outputs = this.#take(source.bytes) ? await openSourceOutputs(this.#em, this.#keyRing, source.id) : null;
    this.#outputs.set(source.id, outputs);
    return outputs;
  }

  /**
   * The outputs in the state of the instance, which says their types; none if it has no state, or one that is encrypted or larger than 16
   * MiB. Null: it would exceed the total size.
   */
  async openState({ id, stateSerial }: Source): Promise<StateOutputs | null> {
    const known = this.#states.get(id);
    if (known !== undefined) return known;
    const outputs = await this.#readState(id, stateSerial);
    this.#states.set(id, outputs);
    return outputs;
  }

  async #readState(id: string, serial: number): Promise<StateOutputs | null> {
    const version = serial === 0 ? null : await readStateVersion(this.#em, id, serial);
    if (!version || version.size > maxState) return none;
    if (!this.#take(version.size)) return null;
    const content = await readState(this.#em, this.#keyRing, id, serial);
    const state = content === null ? undefined : parse(content);
    const outputs = isJsonObject(state) ? state['outputs'] : undefined;
    if (!isJsonObject(outputs)) return none;
    return new Map(
      Object.entries(outputs).flatMap(([name, output]) => (isJsonObject(output) ? [[name, output] as const] : [])),
    );
  }

  #take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}

function parse(content: Buffer): JsonValue {
  try {
    return parseExactJson(content.toString());
  } catch {
    return null;
  }
}

import { isUtf8 } from 'node:buffer';
import type { DeployedResource, StateObject } from './addresses.ts';
import { JsonCursor, JsonError } from './json-cursor.ts';
import { type MaskedAddresses, readStateResource } from './shown-resource.ts';
import { runAtOnce, runInTurns } from './turns.ts';

/** More resources than this are counted and not listed: a state of any size must stay cheap to hold. */
export const maxResources = 100_000;

/** What the service reads from a state. Numbers are texts, as the state writes them: they may be beyond 2^53. */
export interface StateFile {
  /** `tool`: a state of OpenTofu or Terraform; `encrypted`: one that its template encrypts; `other`: anything else. */
  readonly kind: 'tool' | 'encrypted' | 'other';
  readonly isEmpty: boolean;
  readonly version: string | null;
  readonly serial: string | null;
  readonly lineage: string | null;
  /** The resources that the tool manages. Data sources do not count: they are read, not deployed. */
  readonly resources: readonly DeployedResource[];
  readonly resourceCount: number;
  /** The names of the outputs that it marks as secret. */
  readonly secretOutputs: readonly string[];
  /** The first problem that no tool's state has, such as a repeated member; null if there is none. */
  readonly problem: string | null;
}

/** @throws JsonError if the bytes are not JSON in UTF-8 */
export function readStateFile(content: Uint8Array, masked: MaskedAddresses = {}): StateFile {
  return runAtOnce(new StateReader(content, masked).read());
}

/** `readStateFile` that lets the process answer other requests between the parts of a large state. */
export function readStateFileInTurns(content: Uint8Array): Promise<StateFile> {
  return runInTurns(new StateReader(content, {}).read());
}

type StateObjectKeys = Pick<StateObject, 'key' | 'deposed'>;

/** The objects of one resource; `more` counts those beyond the limit. */
interface Objects {
  readonly listed: StateObjectKeys[];
  more: number;
}

/** The members that the service reads. Everything else is skipped. */
const stateMembers = new Set(['version', 'serial', 'lineage', 'resources', 'outputs', 'encrypted_data']);
const resourceMembers = new Set(['instances', 'module', 'mode', 'type', 'name', 'provider']);

class StateReader {
  readonly #cursor: JsonCursor;
  readonly #masked: MaskedAddresses;
  #place = 0;
  /** The resources as people may see them, by their addresses. */
  readonly #resources = new Map<string, DeployedResource>();
  /** The source texts of the known members; empty for objects and lists. */
  readonly #members = new Map<string, string>();
  #isEmpty = false;
  #count = 0;
  readonly #secretOutputs: string[] = [];
  #problem: string | null = null;

  constructor(content: Uint8Array, masked: MaskedAddresses) {
    if (!isUtf8(content)) throw new JsonError('expected UTF-8');
    this.#cursor = new JsonCursor(content);
    this.#masked = masked;
  }

  /** Yields after each object of a resource, and while it skips values. */
  *read(): Generator<void, StateFile> {
    if (this.#cursor.isAtObject) yield* this.#readMembers();
    else yield* this.#cursor.skipInTurns();
    this.#cursor.end();
    const kind = this.#kindOf();
    const isListed = kind === 'tool';
    return {
      kind,
      isEmpty: this.#isEmpty,
      version: this.#members.get('version') ?? null,
      serial: this.#members.get('serial') ?? null,
      lineage: this.#lineage,
      resources: isListed ? [...this.#resources.values()] : [],
      resourceCount: isListed ? this.#count : 0,
      secretOutputs: isListed ? this.#secretOutputs : [],
      problem: this.#problem,
    };
  }

  #kindOf(): StateFile['kind'] {
    if (this.#members.has('encrypted_data')) return 'encrypted';
    return this.#members.get('version') === '4' && this.#lineage ? 'tool' : 'other';
  }

  get #lineage(): string | null {
    const written = this.#members.get('lineage');
    return written?.startsWith('"') ? JSON.parse(written) : null;
  }

  *#readMembers(): Generator<void, void> {
    this.#isEmpty = true;
    for (const name of this.#cursor.keys()) {
      this.#isEmpty = false;
      if (!stateMembers.has(name)) {
        this.#noteCapitals(name, stateMembers);
        yield* this.#cursor.skipInTurns();
        continue;
      }
      if (this.#members.has(name)) this.#note(`${name}: expected the member once`);
      this.#members.set(name, yield* this.#readMember(name));
    }
  }

  *#readMember(name: string): Generator<void, string> {
    if (name === 'resources') yield* this.#readResources();
    else if (name === 'outputs') yield* this.#checkOutputs();
    else return yield* this.#readLiteral();
    return '';
  }

  *#checkOutputs(): Generator<void, void> {
    if (!this.#cursor.isAtObject) {
      this.#note('outputs: expected an object');
      yield* this.#cursor.skipInTurns();
      return;
    }
    const names = new Set<string>();
    for (const name of this.#cursor.keys()) {
      if (names.has(name)) this.#note('outputs: expected each name once');
      names.add(name);
      if (this.#cursor.isAtObject) yield* this.#readOutput(name);
      else yield* this.#skipWrong('outputs: expected an object for each name');
      yield;
    }
  }

  *#readOutput(output: string): Generator<void, void> {
    for (const name of this.#cursor.keys()) {
      if (name !== 'sensitive') yield* this.#cursor.skipInTurns();
      else if ((yield* this.#readLiteral()) !== 'false') this.#secretOutputs.push(output);
    }
  }

  *#readResources(): Generator<void, void> {
    this.#resources.clear();
    [this.#count, this.#place] = [0, 0];
    if (!this.#cursor.isAtArray) {
      yield* this.#skipWrong('resources: expected a list');
      return;
    }
    for (const _ of this.#cursor.items()) {
      if (this.#cursor.isAtObject) yield* this.#readResource();
      else yield* this.#skipWrong('resources: expected objects in the list');
    }
  }

  /** The members of a resource may come in any order, so its objects are listed when all of them are known. */
  *#readResource(): Generator<void, void> {
    const members = new Map<string, string | null>();
    let objects: Objects = { listed: [], more: 0 };
    for (const name of this.#cursor.keys()) {
      if (name === 'instances') objects = yield* this.#readObjects();
      else if (resourceMembers.has(name)) members.set(name, yield* this.#readText());
      else {
        this.#noteCapitals(name, resourceMembers);
        yield* this.#cursor.skipInTurns();
      }
    }
    if (members.get('mode') === 'data') return;
    for (const object of objects.listed) this.#list(members, object);
    this.#count += objects.more;
    this.#place += objects.more;
  }

  *#readObjects(): Generator<void, Objects> {
    const objects: Objects = { listed: [], more: 0 };
    if (!this.#cursor.isAtArray) {
      yield* this.#skipWrong('resources: expected a list of instances');
      return objects;
    }
    for (const _ of this.#cursor.items()) {
      const object = yield* this.#readObject();
      if (objects.listed.length < maxResources) objects.listed.push(object);
      else objects.more += 1;
      yield;
    }
    return objects;
  }

  *#readObject(): Generator<void, StateObjectKeys> {
    let key: string | number | null = null;
    let deposed: string | null = null;
    if (!this.#cursor.isAtObject) {
      yield* this.#skipWrong('resources: expected objects in the list of instances');
      return { key, deposed };
    }
    for (const name of this.#cursor.keys()) {
      if (name === 'index_key') key = yield* this.#readKey();
      else if (name === 'deposed') deposed = yield* this.#readText();
      else yield* this.#cursor.skipInTurns();
    }
    return { key, deposed };
  }

  *#readKey(): Generator<void, string | number | null> {
    if (this.#cursor.isAtText) return this.#cursor.text();
    const written = yield* this.#readLiteral();
    return written === '' || written === 'null' ? null : Number(written);
  }

  *#readText(): Generator<void, string | null> {
    if (this.#cursor.isAtText) return this.#cursor.text();
    yield* this.#cursor.skipInTurns();
    return null;
  }

  /** Reads the source text of a value; empty for an object or a list. */
  *#readLiteral(): Generator<void, string> {
    if (!this.#cursor.isAtObject && !this.#cursor.isAtArray) return this.#cursor.literal();
    yield* this.#cursor.skipInTurns();
    return '';
  }

  #list(members: ReadonlyMap<string, string | null>, object: StateObjectKeys): void {
    const [type, name] = [members.get('type') ?? '', members.get('name') ?? ''];
    if (type === '' || name === '') this.#note('resources: expected a type and a name of each');
    const [module, provider] = [members.get('module') || null, members.get('provider') || null];
    const described = { ...object, module, type, name, provider };
    const { address, shown } = readStateResource(described, this.#masked, this.#place++);
    if (this.#resources.has(address)) {
      this.#note('resources: expected each address once');
      return;
    }
    this.#count += 1;
    if (this.#resources.size < maxResources) this.#resources.set(address, shown);
  }

  *#skipWrong(problem: string): Generator<void, void> {
    this.#note(problem);
    yield* this.#cursor.skipInTurns();
  }

  /**
   * Reports a known name in another case. Tools ignore the case of names: if only they read a list, the service would believe that nothing
   * is deployed.
   */
  #noteCapitals(name: string, known: ReadonlySet<string>): void {
    const lower = name.toLowerCase();
    if (known.has(lower)) this.#note(`${lower}: expected the name in lowercase`);
  }

  #note(problem: string): void {
    this.#problem ??= problem;
  }
}

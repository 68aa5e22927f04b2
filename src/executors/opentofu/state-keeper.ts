import { AttemptFailure, messageOf } from '../attempt/attempt-error.ts';
import type { StateMeta } from '../protocol/request.ts';
import type { Redactor } from '../redaction/redaction.ts';
import { readStateDocument, type StateDocument } from './state-document.ts';

export interface StateKeeperOptions {
  readonly initial: Buffer | null;
  /** Resolves to whether the worker keeps the state for good. */
  readonly save: (content: Buffer, meta: StateMeta) => Promise<boolean>;
  readonly redactor: Redactor;
}

const longestLineage = 1024;
const unknown: Pick<StateDocument, 'serial' | 'lineage' | 'resourceCount'> = {
  serial: null,
  lineage: null,
  resourceCount: 0,
};

/** The latest state of an attempt. A new one counts from when the worker has it for good. */
export class StateKeeper {
  readonly #options: StateKeeperOptions;
  #content: Buffer | null;
  #document: Pick<StateDocument, 'serial' | 'lineage' | 'resourceCount'> = unknown;
  #writes = 0;
  /** Writes follow each other, so that each is judged by the one before it. */
  #turn: Promise<void> = Promise.resolve();
  #failure: AttemptFailure | null = null;
  /** What was written and not saved. */
  unsaved: Buffer | null = null;

  constructor(options: StateKeeperOptions) {
    this.#options = options;
    this.#content = options.initial;
  }

  get content(): Buffer | null {
    return this.#content;
  }

  /** Why a state was refused or lost, if one was: then the attempt has not succeeded, whatever its tool says. */
  get failure(): AttemptFailure | null {
    return this.#failure;
  }

  /** Reads the first state as OpenTofu's. @throws AttemptFailure `state_invalid` */
  openDocument(): void {
    if (this.#content !== null) this.#document = this.#read(this.#content);
  }

  /** Keeps OpenTofu's next state. @throws AttemptFailure where it does not follow the latest one, or was not saved */
  replaceDocument(content: Buffer): Promise<void> {
    const replaced = this.#turn.then(() => this.#replaceDocument(content));
    this.#turn = replaced.catch(() => undefined);
    return replaced;
  }

  async #replaceDocument(content: Buffer): Promise<void> {
    const next = this.#read(content);
    const { serial, lineage } = this.#document;
    if (lineage !== null && next.lineage !== lineage) {
      throw this.#fail('state_conflict', 'the tool wrote a state of another lineage', content);
    }
    const repeats = serial !== null && next.serial === serial && this.#content?.equals(content);
    if (repeats) return;
    if (serial !== null && (next.serial === null || next.serial <= serial)) {
      throw this.#fail(
        'state_conflict',
        `the tool wrote state ${next.serial}, but ${serial} is there already`,
        content,
      );
    }
    await this.#save(content, next);
  }

  /** Keeps what a command template wants to remember, unless it remembers it already. */
  async replaceContent(content: Buffer): Promise<void> {
    if (this.#content?.equals(content)) return;
    await this.#save(content, unknown);
  }

  async #save(content: Buffer, document: Pick<StateDocument, 'serial' | 'lineage' | 'resourceCount'>): Promise<void> {
    const { serial, lineage, resourceCount } = document;
    const isSaved = await this.#options.save(content, { write: ++this.#writes, serial, lineage, resourceCount });
    if (!isSaved) throw this.#fail('state_not_saved', 'the state could not be saved', content);
    this.#content = content;
    this.#document = document;
    this.unsaved = null;
  }

  #read(content: Buffer): StateDocument {
    try {
      const document = readStateDocument(content);
      checkIdentity(document);
      for (const secret of document.secrets) this.#options.redactor.learn(secret);
      return document;
    } catch (error) {
      throw this.#fail('state_invalid', `the state cannot be read: ${messageOf(error)}`, content);
    }
  }

  #fail(
    reason: 'state_conflict' | 'state_not_saved' | 'state_invalid',
    message: string,
    content: Buffer,
  ): AttemptFailure {
    this.#failure = new AttemptFailure(reason, message);
    if (reason !== 'state_invalid') this.unsaved = content;
    return this.#failure;
  }
}

/** @throws Error where no tool of ours counts or names its states so */
function checkIdentity({ serial, lineage }: StateDocument): void {
  if (serial !== null && (!Number.isSafeInteger(serial) || serial < 0)) throw new Error(`its serial is ${serial}`);
  if (lineage !== null && lineage.length > longestLineage) throw new Error('its lineage is too long');
}

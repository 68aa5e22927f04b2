import type { StateMeta } from '../protocol/request.ts';
import { AttemptFailure } from '../shared/errors.ts';

interface StateKeeperOptions {
  readonly initial: Buffer | null;
  /** Resolves to whether the worker stored the state durably. */
  readonly save: (content: Buffer, meta: StateMeta) => Promise<boolean>;
}

type StateFacts = Omit<StateMeta, 'write'>;

const noFacts: StateFacts = { serial: null, lineage: null, resourceCount: 0 };

/** The latest state of an attempt. A new state counts only once the worker has stored it durably. */
export class StateKeeper {
  readonly #options: StateKeeperOptions;
  #content: Buffer | null;
  #writes = 0;
  #failure: AttemptFailure | null = null;

  constructor(options: StateKeeperOptions) {
    this.#options = options;
    this.#content = options.initial;
  }

  get content(): Buffer | null {
    return this.#content;
  }

  /** The last reason for which a state was refused or lost; null if none was. It fails the attempt even if its tool succeeds. */
  get failure(): AttemptFailure | null {
    return this.#failure;
  }

  /** Stores a new state. @throws AttemptFailure `state_not_saved` */
  async save(content: Buffer, facts: StateFacts = noFacts): Promise<void> {
    const isSaved = await this.#options.save(content, { write: ++this.#writes, ...facts });
    if (!isSaved) throw this.fail('state_not_saved', 'the state could not be saved');
    this.#content = content;
  }

  /** Stores a state unless it equals the latest one. @throws AttemptFailure `state_not_saved` */
  async saveIfChanged(content: Buffer): Promise<void> {
    if (!this.#content?.equals(content)) await this.save(content);
  }

  /** Records that a state was refused or lost. Returns the error to throw. */
  fail(reason: 'state_conflict' | 'state_not_saved' | 'state_invalid', message: string): AttemptFailure {
    this.#failure = new AttemptFailure(reason, message);
    return this.#failure;
  }
}

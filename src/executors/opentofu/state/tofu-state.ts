import { isSecretOutput, type OutputSecrets } from '../../attempt/outputs.ts';
import type { StateKeeper } from '../../attempt/state-keeper.ts';
import { maskAddresses } from '../../redaction/masked-addresses.ts';
import { formatBytes } from '../../shared/bytes.ts';
import { type AttemptFailure, messageOf } from '../../shared/errors.ts';
import { resultLimits } from '../../shared/result-limits.ts';
import { readStateDocument, type StateDocument } from './state-document.ts';

const maxLineageLength = 1024;

type Identity = Pick<StateDocument, 'serial' | 'lineage'>;

/** The latest state of an OpenTofu attempt. It accepts only states that follow the one before. */
export class TofuState {
  readonly #keeper: StateKeeper;
  readonly #secrets: OutputSecrets;
  #latest: Identity = { serial: null, lineage: null };
  /** Writes run one after the other, so that each is checked against the one before it. */
  #queue: Promise<void> = Promise.resolve();

  constructor(keeper: StateKeeper, secrets: OutputSecrets) {
    this.#keeper = keeper;
    this.#secrets = secrets;
  }

  get content(): Buffer | null {
    return this.#keeper.content;
  }

  /** Whether the last write failed because it did not follow the latest state. */
  get hasConflict(): boolean {
    return this.#keeper.failure?.reason === 'state_conflict';
  }

  /** Reads the initial state. @throws AttemptFailure `state_invalid` */
  open(): void {
    if (this.content !== null) this.#latest = this.#read(this.content);
  }

  /** Stores the next state. @throws AttemptFailure if it does not follow the latest one, or could not be stored */
  replace(content: Buffer): Promise<void> {
    const replaced = this.#queue.then(() => this.#replace(content));
    this.#queue = replaced.catch(() => undefined);
    return replaced;
  }

  /** Records that a state was too large to be received. Returns the error. */
  refuseSize(): AttemptFailure {
    const limit = formatBytes(resultLimits.stateBytes);
    return this.#keeper.fail(
      'state_not_saved',
      `the tool wrote a state of more than ${limit}, the largest that is kept`,
    );
  }

  async #replace(content: Buffer): Promise<void> {
    const next = this.#read(content);
    const { serial, lineage } = this.#latest;
    if (lineage !== null && next.lineage !== lineage) {
      throw this.#keeper.fail('state_conflict', 'the tool wrote a state of another lineage');
    }
    const isRepeated = serial !== null && next.serial === serial && this.content?.equals(content);
    if (isRepeated) return;
    if (serial !== null && (next.serial === null || next.serial <= serial)) {
      const message = `the tool wrote a state with serial ${next.serial}, but the latest one already has ${serial}`;
      throw this.#keeper.fail('state_conflict', message);
    }
    await this.#keeper.save(content, {
      serial: next.serial,
      lineage: next.lineage,
      resourceCount: next.resources.length,
      maskedAddresses: maskAddresses(next.resources, this.#secrets.redactor),
      secretOutputs: Object.entries(next.outputs).flatMap(([name, output]) =>
        isSecretOutput(this.#secrets, name, output) ? [name] : [],
      ),
    });
    this.#latest = next;
  }

  #read(content: Buffer): StateDocument {
    try {
      const document = readStateDocument(content);
      checkIdentity(document);
      for (const secret of document.secrets) this.#secrets.redactor.learn(secret);
      return document;
    } catch (error) {
      throw this.#keeper.fail('state_invalid', `the state cannot be read: ${messageOf(error)}`);
    }
  }
}

/** @throws Error if no supported tool writes such a serial or lineage */
function checkIdentity({ serial, lineage }: Identity): void {
  if (serial !== null && (!Number.isSafeInteger(serial) || serial < 0)) throw new Error(`its serial is ${serial}`);
  if (lineage !== null && lineage.length > maxLineageLength) throw new Error('its lineage is too long');
}

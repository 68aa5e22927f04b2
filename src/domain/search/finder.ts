import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { WaitingOn } from '#domain/shared/vocabulary/waiting.ts';

/** A result of a search in one kind. */
export interface FoundRow {
  readonly id: string;
  readonly name: string;
  /** What distinguishes it from others of the same name: its owner, its status or an address; null if nothing does. */
  readonly context: string | null;
  /** The id of its parent, if its address contains it; null if its own id is enough. */
  readonly parentId: string | null;
  /** A longer text, such as the message of a run. */
  readonly excerpt?: string;
  /** Why a run ended without success. */
  readonly statusReason?: string | null;
  /** What a run waits for. */
  readonly waitingOn?: WaitingOn | null;
}

/** Finds things of one kind by a text: at most `max` of those that a principal may read. */
export type Finder = (em: Em, principal: Principal, text: string, max: number) => Promise<FoundRow[]>;

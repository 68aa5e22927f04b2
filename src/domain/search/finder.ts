import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { WaitingOn } from '#domain/shared/vocabulary/waiting.ts';

/** What a search finds of one kind. */
export interface FoundRow {
  readonly id: string;
  readonly name: string;
  /** What tells it apart from others of the same name: its owner, its status or an address; null if there is nothing. */
  readonly context: string | null;
  /** What it is part of, where its address names that; null if its own id is enough. */
  readonly parentId: string | null;
  /** A longer text that tells more, such as the message of a run. */
  readonly excerpt?: string;
  /** Why a run ended without success. */
  readonly statusReason?: string | null;
  /** What a run waits for. */
  readonly waitingOn?: WaitingOn | null;
}

/** Finds what a principal may read of one kind by a text, and at most `max` of them. */
export type Finder = (em: Em, principal: Principal, text: string, max: number) => Promise<FoundRow[]>;

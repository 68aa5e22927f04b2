import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { type PageRequest, pageByNumber } from '../paging/paging.ts';

const bySequence = {
  column: 'sequence',
  of: ({ sequence }: { sequence: number }) => sequence,
  direction: 'asc',
} as const;

/** A page of the events of a subject after a number, oldest first. */
export function listEventsOf(em: Em, subject: { kind: string; id: string }, after: number, page: PageRequest) {
  const events = db(em)
    .selectFrom('domain_events')
    .where('subjectKind', '=', subject.kind)
    .where('subjectId', '=', subject.id)
    .where('sequence', '>', after)
    .select(['sequence', 'type', 'data', 'createdAt as at']);
  return pageByNumber(events, bySequence, page);
}

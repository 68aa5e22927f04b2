import { createHash } from 'node:crypto';
import { firstIdAt } from '#domain/shared/ids.ts';

let made = 0;

/** A new id of a moment, as `newId` would have made it then: lists order rows by their ids. Later ids of one millisecond are larger. */
export function idAt(milliseconds: number): string {
  made += 1;
  const count = made.toString(16).padStart(6, '0');
  const tail = createHash('md5').update(count).digest('hex').slice(0, 12);
  return `${firstIdAt(new Date(milliseconds)).slice(0, 13)}-7${count.slice(0, 3)}-8${count.slice(3)}-${tail}`;
}

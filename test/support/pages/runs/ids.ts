import { firstIdAt } from '#domain/shared/ids.ts';

let made = 0;

/** A new id of a moment, as `newId` would have made it then: lists order rows by their ids. */
export function idAt(milliseconds: number): string {
  made += 1;
  return `${firstIdAt(new Date(milliseconds)).slice(0, 13)}-7000-8000-${made.toString(16).padStart(12, '0')}`;
}

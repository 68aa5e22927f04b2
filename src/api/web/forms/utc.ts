/** Converts the time of a form's field, which has no time zone and means UTC. */
export function toUtc(local: string): string | null {
  return local === '' ? null : `${local.length === 16 ? `${local}:00` : local}Z`;
}

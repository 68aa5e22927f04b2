import type { AuditRecord } from '#domain/audit/model.ts';

/** The format of an export. */
export interface ExportFormat {
  readonly contentType: string;
  /** The text before the first record. */
  readonly head: string;
  readonly write: (record: AuditRecord) => string;
}

const columns: readonly (readonly [name: string, read: (record: AuditRecord) => string | null])[] = [
  ['id', ({ id }) => id],
  ['at', ({ at }) => at],
  ['action', ({ action }) => action],
  ['outcome', ({ outcome }) => outcome],
  ['actor_type', ({ actor }) => actor.type],
  ['actor_id', ({ actor }) => actor.id],
  ['actor_name', ({ actor }) => actor.name],
  ['credential_type', ({ credential }) => credential?.type ?? null],
  ['credential_id', ({ credential }) => credential?.id ?? null],
  ['resource_type', ({ resource }) => resource.type],
  ['resource_id', ({ resource }) => resource.id],
  ['organization_id', ({ organization_id: id }) => id],
  ['team_id', ({ team_id: id }) => id],
  ['request_id', ({ request_id: id }) => id],
  ['address', ({ address }) => address],
  ['before', ({ before }) => toJson(before)],
  ['after', ({ after }) => toJson(after)],
];

export const exportFormats = {
  /** One record a line, as the API shows it. */
  ndjson: {
    contentType: 'application/x-ndjson; charset=utf-8',
    head: '',
    write: (record) => `${JSON.stringify(record)}\n`,
  },
  /** RFC 4180 with a header, `before` and `after` as JSON. */
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    head: `${columns.map(([name]) => name).join(',')}\r\n`,
    write: (record) => `${columns.map(([, read]) => toField(read(record))).join(',')}\r\n`,
  },
} as const satisfies Record<string, ExportFormat>;

/**
 * Puts an apostrophe before a field that a spreadsheet would interpret as a formula, so that it stays text. Any user can choose such a
 * name, and the person who opens the file may have much authority.
 */
function toField(value: string | null): string {
  if (value === null) return '';
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

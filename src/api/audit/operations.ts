import { Readable } from 'node:stream';
import { z } from 'zod';
import { RawAnswer } from '#api/pipeline/answers/raw-answer.ts';
import { readList } from '#api/pipeline/list.ts';
import { type Operation, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import { openExport } from '#domain/audit/export.ts';
import { findFilteredOwner } from '#domain/audit/filtered-owner.ts';
import { type AuditRecord, recordKinds } from '#domain/audit/model.ts';
import { findRecord, listRecords } from '#domain/audit/records.ts';
import { auditScopeOf, showTo } from '#domain/audit/scope.ts';
import { readRecord } from '#domain/audit/store.ts';
import { readRetentionDays } from '#domain/settings/retention.ts';
import { type Access, administers, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Invalid, NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { TimeOrDay } from '#domain/shared/values/times.ts';
import { resolveActor } from './actor-filter.ts';
import { auditCatalogue, readActions } from './catalogue.ts';
import { exportFormats } from './export-formats.ts';
import { RecordView } from './views.ts';

/** How many records are written as one text. Larger texts would stay in memory until the next full garbage collection. */
const recordsPerWrite = 50;

/** Everybody may read the audit. `auditScopeOf` limits which records they see. */
const readAccess: Access = {
  anyOf: ['audit:read', 'profile:manage'],
  scope: 'platform',
  hidden: 'not_found',
  review: { resource: 'audit_records', verb: 'list' },
};

/** Access to the audit of what the caller administers. */
const administeredAccess: Access = { ...readAccess, anyOf: ['audit:read'], scope: 'administered' };

/** A filter by an organization or a team requires its administrator. Others who may read the owner learn which role they lack. */
function accessToFiltered(owner: Ownership, principal: Principal): Access {
  const { organizationId, teamId } = owner;
  if (organizationId === null && teamId === null) return readAccess;
  if (administers(principal, owner)) return administeredAccess;
  return teamId === null
    ? { ...administeredAccess, scope: 'organization', organizationRole: 'admin' }
    : { ...administeredAccess, scope: 'team', teamAction: 'team.membership.manage' };
}

const owners = { organization: 'organization_id', team: 'team_id' } as const;

const ActionView = z
  .object({
    action: z.string(),
    operation: z.string().nullable().describe('Null: the service itself does this, without a request.'),
    summary: z.string(),
    kind: z
      .enum(recordKinds)
      .describe('`read`: it changes nothing, so only denials are recorded unless `outcomes` has `committed`.'),
    resource_type: z.string(),
    outcomes: z.array(z.enum(['committed', 'refused'])),
  })
  .meta({ id: 'AuditAction' });

const Name = z
  .string()
  .regex(/^[a-z][a-z0-9_.]{0,99}$/, { error: 'expected a name of the catalogue (/audit/actions)' });
const Text = z.string().regex(/^[\x20-\x7e]{1,255}$/, { error: 'expected 1-255 printable characters' });

const ActorName = z
  .string()
  .min(1)
  .max(255)
  .refine((text) => !/\p{Cc}/u.test(text), { error: 'expected 1-255 printable characters' });

const filters = {
  actor: ActorName.optional().describe(
    'Who did it: the name, the e-mail address or the id of a user, a service account or a background principal of a plugin, or a part of the service such as `anonymous`. A part of a name is enough where only one person whom you know has it. A text that names nobody whose records you can see is refused.',
  ),
  action: Name.optional(),
  kind: z
    .enum(recordKinds)
    .optional()
    .describe(
      '`read`: only records of what changes nothing: downloads and comparisons of states, exports and checks of the audit, and denials of reads. `change`: everything else.',
    ),
  outcome: z.enum(['committed', 'refused']).optional(),
  resource_type: Name.optional(),
  resource_id: Text.optional(),
  organization_id: Id.optional(),
  team_id: Id.optional(),
  plugin_installation_id: Id.optional().describe(
    'An installed plugin: only records of it, its ceiling, its assignments, its background principals and its resources.',
  ),
  request_id: Text.optional().describe('The X-Request-ID of the answer.'),
  from: TimeOrDay.optional().describe('Only records from this time on.'),
  to: TimeOrDay.optional().describe('Only records before this time.'),
};

const names = { action: 'action', resource_type: 'resource type' } as const;

/**
 * Refuses an action or a resource type that neither a record nor an operation has, because an empty list would suggest that nobody did
 * this. Records of earlier releases may have other names, so a name that finds records is accepted.
 * @throws Invalid naming the catalogue
 */
function refuseUnknownNames(
  operations: readonly Operation[],
  query: { action?: string | undefined; resource_type?: string | undefined },
): void {
  const catalogue = auditCatalogue(operations);
  const errors = (Object.keys(names) as (keyof typeof names)[])
    .filter((path) => query[path] !== undefined && !catalogue.some((entry) => entry[path] === query[path]))
    .map((path) => ({
      in: 'query',
      path,
      message: `query parameter "${path}": there is no such record, and the catalogue has no such ${names[path]}: GET /api/v1/audit/actions lists them`,
    }));
  if (errors.length > 0) throw new Invalid(errors.map(({ message }) => message).join('; '), { errors });
}

export const list = readList({
  id: 'audit_records.list',
  route: 'GET /api/v1/audit',
  summary: 'List audit records, newest first',
  description:
    'Users who are platform administrators find every record. Everybody finds the records of their own acts and, with audit:read, ' +
    'those of the organizations and teams whose memberships they manage.',
  query: z.strictObject({ ...pageQuery, ...filters }),
  responses: { 200: pageOf('audit_records', RecordView) },
  access: readAccess,
  owners,
  findOwner: findFilteredOwner,
  accessTo: accessToFiltered,
  handle: async ({ em, principal, query, services, operations }) => {
    const retentionDays = await readRetentionDays(em, 'audit', services.config.auditRetentionDays);
    const filter = await resolveActor(em, principal, query, retentionDays);
    const selected = { ...filter, readActions: readActions(operations) };
    const page = await listRecords(em, principal, selected, retentionDays, query);
    if (page.items.length === 0) refuseUnknownNames(operations, query);
    return { audit_records: page.items, next_cursor: page.nextCursor };
  },
});

export const listActions = read({
  id: 'audit_records.list_actions',
  route: 'GET /api/v1/audit/actions',
  summary: 'Read the catalogue of actions that records may name',
  description:
    'An operation that only reads records only its refusals, under its own name, unless it lists `committed`.',
  responses: { 200: z.object({ actions: z.array(ActionView) }).meta({ id: 'AuditActions' }) },
  access: { ...readAccess, review: { resource: 'audit_records', verb: 'list_actions' } },
  handle: async ({ operations }) => ({ actions: auditCatalogue(operations) }),
});

export const exportRecords = readList({
  id: 'audit_records.export',
  route: 'GET /api/v1/audit/export',
  summary: 'Export audit records, oldest first, as NDJSON or CSV',
  description:
    'A stream of all records up to now that `GET /audit` would list for you. The trailer `X-Audit-Records` gives their number: an export without it was cut off, and ' +
    'ends without the last chunk. It is cut off, too, when you may no longer read the same records. Use the header `X-Audit-Complete-Until` as the `from` of the next export; a record that is ' +
    'in both has the same `id`. In CSV, a field that a spreadsheet would take for a formula begins with an apostrophe.',
  query: z.strictObject({ format: z.enum(['ndjson', 'csv']).default('ndjson'), ...filters }),
  responses: { 200: z.never() },
  produces: {
    'application/x-ndjson': 'One record a line, each as `GET /audit/{id}` answers it.',
    'text/csv': 'RFC 4180 with a header line; `before` and `after` are JSON.',
  },
  access: { ...readAccess, review: { resource: 'audit_records', verb: 'export' } },
  owners,
  findOwner: findFilteredOwner,
  accessTo: accessToFiltered,
  audit: 'audit_records.exported',
  partShownTo: auditScopeOf,
  handle: async ({ em, principal, query, services, operations }) => {
    const { format, ...filter } = query;
    const retentionDays = await readRetentionDays(em, 'audit', services.config.auditRetentionDays);
    const resolved = await resolveActor(em, principal, filter, retentionDays);
    const selected = { ...resolved, readActions: readActions(operations) };
    const opened = await openExport(em, principal, selected, retentionDays);
    return answerExport(format, opened);
  },
});

export const get = read({
  id: 'audit_records.get',
  route: 'GET /api/v1/audit/:id',
  summary: 'Read an audit record',
  params: z.strictObject({ id: Id }),
  responses: { 200: RecordView },
  access: { ...readAccess, review: { resource: 'audit_records', verb: 'get' } },
  target: ({ em, params, callerId }) => findRecord(em, params.id, callerId),
  targetName: 'audit record',
  accessTo: ({ isCallersOwn }) => (isCallersOwn ? readAccess : administeredAccess),
  resourceId: ({ params }) => params.id,
  handle: async ({ em, principal, params, services }) => {
    const record = await readRecord(
      em,
      params.id,
      await readRetentionDays(em, 'audit', services.config.auditRetentionDays),
    );
    if (!record) throw new NotFound('audit record');
    return showTo(principal, record);
  },
});

function answerExport(
  format: keyof typeof exportFormats,
  { pages, completeUntil }: Awaited<ReturnType<typeof openExport>>,
) {
  const { contentType, head, write } = exportFormats[format];
  let written = 0;
  async function* lines(): AsyncGenerator<string> {
    if (head !== '') yield head;
    for await (const page of pages) {
      for (let at = 0; at < page.length; at += recordsPerWrite) {
        const records: AuditRecord[] = page.slice(at, at + recordsPerWrite);
        yield records.map((record) => write(record)).join('');
        written += records.length;
      }
    }
  }
  const fileName = `audit-${completeUntil.replace(/\.\d+Z$/, 'Z').replaceAll(':', '')}.${format}`;
  return RawAnswer.by((_request, reply) => {
    reply.header('content-type', contentType);
    reply.header('content-disposition', `attachment; filename="${fileName}"`);
    reply.header('x-audit-complete-until', completeUntil);
    reply.trailer('x-audit-records', async () => String(written));
    reply.serializer((payload: unknown) => payload as string);
    return reply.send(Readable.from(lines(), { objectMode: false }));
  });
}

import { createHmac, timingSafeEqual } from 'node:crypto';
import { auditedAction, requestFacts } from '#api/pipeline/audit/auditing.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Em } from '#database/database.ts';
import { mayName } from '#domain/members/naming.ts';
import { actionsByStatus } from '#domain/runs/actions.ts';
import { findRun, type RunTarget, readProgress } from '#domain/runs/store.ts';
import { decide, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import { recordAudit } from '#domain/shared/audit.ts';
import { isId } from '#domain/shared/ids.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { requestApproval } from '../../approvals/approval-operations.ts';
import { readAccess } from '../../operations.ts';

/**
 * A reader of a run can send a link to a person who should review it but may not see it. The signature of the link covers the run, the team
 * and the organization that own it, the reader, and the person who is asked. The link works only for this person, and no longer after a
 * transfer of the run.
 */

export const linkDays = 7;

/** What such a link says to the person for whom it was made. */
export interface ReviewLink {
  readonly team: string;
  readonly requester: string;
}

const mayRead = (principal: Principal, owner: Ownership) => decide(principal, readAccess, owner).allowed;

/**
 * Makes the link for a person, and returns it with their name. Null unless the visitor may know the person and the person may not see the
 * run.
 */
export async function createReviewLink(
  visit: Visit<{ id: string }>,
  personId: string,
): Promise<{ readonly name: string; readonly path: LocalPath } | null> {
  const { em, params, principal } = visit;
  const [run, people] = await Promise.all([findReviewable(em, params.id), readPrincipals(em, [personId])]);
  const person = people.get(personId);
  if (!run || !mayRead(principal, run) || person?.kind !== 'user' || !person.enabled) return null;
  if (mayRead(person, run) || !(await mayName(em, principal, person))) return null;
  await recordLink(visit, run, person);
  const expires = String(Math.floor(Date.now() / 1000) + linkDays * 24 * 60 * 60);
  const parts = { runId: params.id, owner: run, requesterId: principal.id, personId, expires };
  const asked = [principal.id, expires, sign(visit, parts).toString('base64url')].join('.');
  return { name: person.name, path: pagePath(pages.run, { id: params.id }, { asked }) };
}

/**
 * What the link says by which the visitor came. Null if it was made for somebody else, was changed or has expired, or if its maker may no
 * longer read the run.
 */
export async function readReviewLink(visit: Visit<{ id: string }>): Promise<ReviewLink | null> {
  const [requesterId = '', expires = '', signature = ''] = (visit.query('asked') ?? '').split('.');
  if (!isId(requesterId) || !(Number(expires) * 1000 > Date.now())) return null;
  const { em, params, principal } = visit;
  const owner = await findReviewable(em, params.id);
  if (!owner) return null;
  const expected = sign(visit, { runId: params.id, owner, requesterId, personId: principal.id, expires });
  const given = Buffer.from(signature, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const requester = (await readPrincipals(em, [requesterId])).get(requesterId);
  if (!requester?.enabled || !mayRead(requester, owner) || !(await mayName(em, requester, principal))) return null;
  const team = (await readNames(em, { teams: [owner.teamId] })).get(owner.teamId)?.name;
  return team === undefined ? null : { team, requester: requester.name };
}

/** Finds a run of a team that waits for a review; null if there is no such run. */
async function findReviewable(em: Em, id: string): Promise<(RunTarget & { readonly teamId: string }) | null> {
  const [run, progress] = await Promise.all([findRun(em, id), readProgress(em, id)]);
  if (!run?.teamId || run.isDeleted || !progress) return null;
  return actionsByStatus[progress.status].includes('request_approval') ? { ...run, teamId: run.teamId } : null;
}

/** Records the link in the audit, as any other request for a review: it reveals the name of a team to somebody who may not know it. */
async function recordLink(
  { em, principal, request }: Visit<unknown>,
  run: RunTarget,
  person: Principal,
): Promise<void> {
  const { action, resourceType } = auditedAction(requestApproval);
  const { id, teamId, organizationId } = run;
  const entry = {
    action,
    resource: { type: resourceType, id },
    teamId,
    organizationId,
    after: { link_for: person.id },
  };
  await recordAudit(em, principal, entry, requestFacts(request));
}

interface SignedParts {
  readonly runId: string;
  readonly owner: Ownership;
  readonly requesterId: string;
  readonly personId: string;
  /** In seconds since 1970. */
  readonly expires: string;
}

function sign(
  { context }: Visit<{ id: string }>,
  { runId, owner, requesterId, personId, expires }: SignedParts,
): Buffer {
  const { teamId, organizationId } = owner;
  const text = JSON.stringify(['asked for a review', runId, teamId, organizationId, requesterId, personId, expires]);
  return createHmac('sha256', context.services.installation.bindingKey).update(text).digest();
}

import type { z } from 'zod';
import { command } from '#api/pipeline/operation.ts';
import type { Em } from '#database/database.ts';
import { unknownPrincipal } from '#domain/memberships/acquaintance.ts';
import { findAccountOwner } from '#domain/service-accounts/owners.ts';
import { findAccountToChange } from '#domain/service-accounts/store.ts';
import { transferAccount } from '#domain/service-accounts/transfer.ts';
import { authorityLock } from '#domain/shared/access/authority-lock.ts';
import { HiddenResource } from '#domain/shared/errors.ts';
import { TransferServiceAccount, toNewOwner } from './bodies.ts';
import { AccountParams, accessReview, changeOf, manageAccess, succession } from './operations.ts';
import { ServiceAccountView, viewOwner } from './views.ts';

/** Operations that give a service account a new owner. */

export const transfer = command({
  id: 'service_accounts.transfer',
  route: 'POST /api/v1/service-accounts/:id/transfer',
  summary: 'Give a service account to another user, or to a team that you own',
  description:
    'Its keys are revoked and its memberships end; it keeps its name, role and history. Where the user who owns it is ' +
    'disabled, principals that may manage users can do this.',
  params: AccountParams,
  body: TransferServiceAccount,
  responses: { 200: ServiceAccountView },
  access: { ...manageAccess, review: { ...accessReview, verb: 'transfer' } },
  target: ({ em, params, body, lock }) => findForTransfer(em, params.id, body, lock),
  targetName: 'service account',
  accessTo: succession(manageAccess),
  idempotency: 'none',
  locks: ({ params }) => [authorityLock(params.id)],
  audit: 'service_account.transferred',
  handle: async ({ tx, principal, target, body, operations }) => {
    if (!target.newOwner) throw missingOwner(body);
    const { updated, ...ended } = await transferAccount(tx.em, principal, target, target.newOwner, {
      expectedRevision: body.expected_revision,
    });
    const [before, after] = [{ owner: viewOwner(target) }, { owner: viewOwner(updated), ...ended }];
    const change = await changeOf(tx.em, { operations, principal }, updated);
    return { ...change, owners: updated, formerOwners: target, before, after };
  },
});

/** Locks users before teams, whether the new owner is a user or a team. */
async function findForTransfer(
  em: Em,
  id: string,
  body: Partial<z.output<typeof TransferServiceAccount>>,
  lock: boolean,
) {
  const owner = body.owner && toNewOwner(body.owner);
  const user = owner?.userId === undefined ? undefined : await findAccountOwner(em, owner, lock);
  const account = await findAccountToChange(em, id, lock);
  const team = owner?.teamId === undefined ? undefined : await findAccountOwner(em, owner, lock);
  return account && { ...account, newOwner: user ?? team };
}

function missingOwner({ owner }: z.output<typeof TransferServiceAccount>) {
  if (owner.team_id !== undefined) return new HiddenResource('the new owner team');
  return unknownPrincipal();
}

import type { Refusal } from '#domain/shared/actions.ts';
import type { Problem } from '../model.ts';

/**
 * The maximum number of collateral addresses. Collateral is the resources and outputs that the plan of a candidate touches but the plan of
 * the undone run did not. A promotion must name all of them in one request, so a candidate check with more fails.
 */
export const maxCollateral = 10_000;

/** The maximum size of all addresses as JSON. It leaves space for the rest of the request, whose limit is 1 MiB. */
const maxBytes = 768 * 1024;

/** Why a candidate check fails because a promotion could not name all its collateral; null if it could. */
export function findCollateralProblem(collateral: readonly string[], runId: string): Problem | null {
  const excess = describeExcess(collateral);
  if (excess === null) return null;
  const message = `the plan of the candidate touches ${collateral.length} resources that the undone run did not touch: ${excess}. Apply the values that you want in a new run`;
  return { code: 'too_much_collateral', message, runId };
}

function describeExcess(collateral: readonly string[]): string | null {
  if (collateral.length > maxCollateral) return `a promotion can accept ${maxCollateral} at most`;
  if (Buffer.byteLength(JSON.stringify(collateral)) <= maxBytes) return null;
  return `their addresses have more than ${maxBytes / 1024} KiB together, which is as much as a promotion can accept`;
}

/** Refuses a promotion that does not accept, by its address, each resource that only the candidate touches. */
export function findCollateralRefusal(collateral: readonly string[], accepted: readonly string[]): Refusal | null {
  const [touched, named] = [new Set(collateral), new Set(accepted)];
  const missing = collateral.filter((address) => !named.has(address));
  const unknown = accepted.filter((address) => !touched.has(address));
  if (missing.length === 0 && unknown.length === 0) return null;
  const parts = [
    ...(missing.length > 0 ? [`it lacks ${listFirst(missing)}`] : []),
    ...(unknown.length > 0 ? [`it names ${listFirst(unknown)}, which the last candidate check did not list`] : []),
  ];
  const message = `the accepted collateral must name exactly the resources that the candidate touches and the run did not: ${parts.join('; ')}`;
  return { code: 'collateral_not_accepted', message };
}

const maxListed = 10;

function listFirst(addresses: readonly string[]): string {
  const listed = addresses
    .slice(0, maxListed)
    .map((address) => address.slice(0, 200))
    .join(', ');
  return addresses.length > maxListed ? `${listed} and ${addresses.length - maxListed} more` : listed;
}

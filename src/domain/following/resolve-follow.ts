import { openInputs } from '#domain/runs/admission/inputs.ts';
import { resolveRun } from '#domain/runs/admission/resolve.ts';
import type { ResolveDeps, ResolvedRun } from '#domain/runs/admission/run-request.ts';
import type { AdmissionTarget } from '#domain/runs/admission/target.ts';
import type { Run } from '#domain/runs/entity.ts';
import { dataSourceOf } from '#domain/runs/references/model.ts';
import { placeReferences } from '#domain/runs/references/place-references.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';

/**
 * The run that deploys an instance as it is deployed, with the outputs that it was given read anew. Its other secrets come from its environment: with
 * another value beside them, such as an address, they could be disclosed (`inheritFrom`).
 * @throws Unprocessable if an output is not there or not to be read any longer, or if a variable is not valid or missing
 */
export async function resolveFollow(
  tx: Transaction,
  deps: ResolveDeps,
  { target, deployed, message }: { target: AdmissionTarget; deployed: Run; message: string },
  requester: Principal,
): Promise<ResolvedRun> {
  const inputs = openInputs(deps.keyRing, deployed.id, deployed.sealedInputs);
  const reads = (inputs.reads ?? []).filter((read) => dataSourceOf(read) === null);
  const named = [...new Set(reads.map(({ variable }) => variable))];
  const variables = named.map((name) => {
    const placed = reads.filter(({ variable }) => variable === name);
    return [name, placeReferences(inputs.variables[name] ?? null, placed)] as const;
  });
  const request = {
    version: undefined,
    instance: deployed.instance,
    operation: 'apply',
    replace: [],
    variables: Object.fromEntries(variables),
    resolvesReferences: true,
    message,
    source: {
      runId: deployed.id,
      isChanged: true,
      deployment: { versionId: deployed.templateVersionId, inputs: { ...inputs, reads: [] } },
    },
  } as const;
  return { ...(await resolveRun(tx, deps, target, request, requester)), requeuedFrom: null };
}

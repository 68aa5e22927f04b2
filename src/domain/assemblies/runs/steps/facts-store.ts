import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { lockForChange } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import { isIncompleteApply } from '#domain/instances/conditions-store.ts';
import { parseDuration } from '#domain/shared/values/durations.ts';
import { type AssemblyNode, AssemblyRun } from '../../entity.ts';
import { findReferences } from '../../spec/references.ts';
import type { AssemblyNodeSpec } from '../../spec/spec.ts';
import type { NodeFacts, NodeRun, RetryRule } from './node-facts.ts';

/** Locks an assembly run until the commit. Null if it does not exist. */
export function lockAssemblyRun(em: Em, id: string): Promise<AssemblyRun | null> {
  return lockForChange(em, AssemblyRun, { id });
}

/** The latest runs of the nodes of an assembly run, by the ids of the runs. */
export async function readNodeRuns(em: Em, assemblyRunId: string): Promise<Map<string, NodeRun>> {
  const rows = await db(em)
    .selectFrom('assembly_nodes as n')
    .innerJoin('runs as r', 'r.id', 'n.runId')
    .where('n.assemblyRunId', '=', assemblyRunId)
    .where('n.finishedAt', 'is', null)
    .select(['r.id', 'r.status', 'r.statusReason', 'r.retrySafe'])
    .select(({ ref }) => sql<boolean>`${isIncompleteApply((column) => ref(`r.${column}`))}`.as('isUncertain'))
    .execute();
  return new Map(rows.map((run) => [run.id, run]));
}

/** A node as a step decides about it. */
export function toNodeFacts(node: AssemblyNode, runs: ReadonlyMap<string, NodeRun>): NodeFacts {
  const { key, status, dependencies, attempts } = node;
  return {
    key,
    status,
    reason: node.reason ?? null,
    dependencies,
    // This is a getter, because only ready nodes need it and the variables may be long.
    get readsOutputsOf() {
      return outputsReadBy(node);
    },
    run: (node.runId && runs.get(node.runId)) || null,
    attempts,
    nextAttemptAt: node.nextAttemptAt ?? null,
    startedAt: node.startedAt ?? null,
    timeoutSeconds: node.spec.timeout === undefined ? null : parseDuration(node.spec.timeout),
    retry: retryRuleOf(node.spec),
  };
}

/** The nodes to whose outputs the variables of a node refer, if it waits for them: a destroy refers to none. */
function outputsReadBy({ spec, dependencies }: AssemblyNode): string[] {
  const named = findReferences(spec.variables).flatMap((found) => (found.kind === 'output' ? [found.node] : []));
  return [...new Set(named)].filter((key) => dependencies.includes(key));
}

function retryRuleOf({ retry }: AssemblyNodeSpec): RetryRule | null {
  return retry ? { attempts: retry.attempts, backoffSeconds: parseDuration(retry.backoff) ?? 0 } : null;
}

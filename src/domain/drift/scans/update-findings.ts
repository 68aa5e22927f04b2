import type { Deviation } from '#domain/runs/plans/deviations.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { newId } from '#domain/shared/ids.ts';
import { DriftFinding, type DriftMonitor } from '../entity.ts';
import { identityOf, observedDigestOf } from '../findings/digests.ts';
import type { FindingState } from '../findings/model.ts';
import { publishTransition } from '../findings/publish.ts';
import { miss, see } from '../findings/transitions.ts';
import { forgetEvidence } from '../retention/evidence-store.ts';
import {
  type EndedScan,
  insertEvidence,
  type NewEvidence,
  observedStateOf,
  readObservedStates,
} from './record-scan-store.ts';

/** The deviations of a complete scan: those that count, and those that ignore rules leave out. */
interface Deviations {
  readonly seen: readonly Deviation[];
  readonly ignored: readonly Deviation[];
}

export interface ScanCounts {
  readonly found: number;
  readonly ignored: number;
  readonly opened: number;
  readonly resolved: number;
  /** How many of the opened findings have a value that differs in every plan. */
  readonly openedPerpetual: number;
}

/**
 * Updates the findings of a monitor after a complete scan: opens or confirms what the scan saw, and resolves all others. The caller has
 * locked the monitor.
 */
export async function updateFindings(
  tx: Transaction,
  monitor: DriftMonitor,
  run: EndedScan,
  { seen, ignored }: Deviations,
): Promise<ScanCounts> {
  const known = await findAffected(tx, monitor.id, seen);
  const byIdentity = new Map(known.map((finding) => [finding.identity, finding]));
  const states = await readObservedStates(
    tx.em,
    known.map(({ evidenceId }) => evidenceId),
  );
  const evidence: NewEvidence[] = [];
  let [opened, openedPerpetual] = [0, 0];
  for (const deviation of seen) {
    const identity = identityOf(deviation);
    const finding = byIdentity.get(identity) ?? null;
    byIdentity.delete(identity);
    const isSameState =
      finding !== null &&
      states.get(finding.evidenceId) === observedStateOf({ ...run, expectation: deviation.expectation });
    const wasOpen = finding?.status === 'open';
    const row = observe(tx, { monitor, run, deviation, identity, isSameState }, finding, evidence);
    if (row.status === 'open' && !wasOpen) {
      opened += 1;
      if (deviation.expectation === 'perpetual') openedPerpetual += 1;
      publishTransition(tx, row, run.id);
    }
  }
  const leftOut = new Set(ignored.map(identityOf));
  const gone = [...byIdentity.values()].filter(({ status }) => status !== 'resolved');
  for (const finding of gone) {
    finding.follow(miss(finding.state(), leftOut.has(finding.identity) ? 'ignored' : 'gone'));
    publishTransition(tx, finding, run.id);
  }
  await tx.em.flush();
  await insertEvidence(tx.em, evidence);
  await forgetEvidence(
    tx.em,
    evidence.map((row) => row.findingId),
  );
  return { found: seen.length, ignored: ignored.length, opened, resolved: gone.length, openedPerpetual };
}

/**
 * The findings that a scan may change: those that it saw, and the unresolved ones. Other resolved findings are not read, because there may
 * be any number of them.
 */
function findAffected({ em }: Transaction, monitorId: string, seen: readonly Deviation[]): Promise<DriftFinding[]> {
  const identities = seen.map(identityOf);
  return em.find(DriftFinding, {
    monitorId,
    $or: [{ status: ['open', 'suppressed'] }, { identity: { $in: identities } }],
  });
}

interface Observed {
  readonly monitor: DriftMonitor;
  readonly run: EndedScan;
  readonly deviation: Deviation;
  readonly identity: string;
  /** Whether the latest evidence has the same state, deployment and expectation. */
  readonly isSameState: boolean;
}

/** Marks a deviation as seen. Adds evidence if the value, the state or the deployment has changed, or if the deviation has returned. */
function observe(
  tx: Transaction,
  { monitor, run, deviation, identity, isSameState }: Observed,
  finding: DriftFinding | null,
  evidence: NewEvidence[],
): DriftFinding {
  const at = new Date(run.finishedAt ?? Date.now());
  const observed = observedDigestOf(deviation);
  const next = see(finding?.state() ?? null, { observed, at });
  const isKnown = finding !== null && isSameState && finding.status !== 'resolved' && finding.observed === observed;
  const evidenceId = isKnown ? finding.evidenceId : newId();
  const row = finding ?? createFinding(tx, { monitor, run, deviation, identity, evidenceId }, next);
  if (finding) finding.follow(next);
  row.showEvidence(evidenceId);
  row.lastRunId = run.id;
  if (!isKnown) evidence.push(toEvidence(run, deviation, { id: evidenceId, findingId: row.id, observed, at }));
  return row;
}

function createFinding(
  tx: Transaction,
  { monitor, run, deviation, identity, evidenceId }: Omit<Observed, 'isSameState'> & { evidenceId: string },
  { status, reason, firstSeenAt, lastSeenAt, count, observed }: FindingState,
): DriftFinding {
  const { address, path } = deviation;
  const place = { monitorId: monitor.id, teamId: monitor.teamId ?? null, instanceId: run.instanceId };
  const state = { status, reason, firstSeenAt, lastSeenAt, seenCount: count, observed };
  const seen = { identity, address, path, evidenceId, lastRunId: run.id };
  const finding = tx.em.create(DriftFinding, { id: newId(), ...place, ...seen, ...state });
  tx.em.persist(finding);
  return finding;
}

function toEvidence(
  { id: runId, stateSerial, deployedRunId, templateVersion, tool, slotHeldBy }: EndedScan,
  { before, after, sensitive, action, expectation }: Deviation,
  { id, findingId, observed, at }: { id: string; findingId: string; observed: string; at: Date },
): NewEvidence {
  return {
    id,
    findingId,
    runId,
    before,
    after,
    sensitive,
    action,
    expectation: expectation ?? null,
    observed,
    stateSerial: stateSerial ?? 0,
    deployedRunId,
    templateVersion,
    tool,
    slotHeldBy,
    observedAt: at,
  };
}

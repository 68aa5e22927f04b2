import { pages } from '#api/web/paths.ts';
import type { Installation } from '../realistic-installation.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

const pictured = { isPictured: true };

/** The pages of runs: lists, one run in each state, what people do with it. */
export function runPages({ runs, teams, templates, organizations }: Installation): DeclaredPage[] {
  const named = Object.entries(runs).map(([key, { id, instance }]) => {
    const who = instance.team.organizationId === organizations.fjord.id ? 'fjordReviewer' : 'reviewer';
    return declare(`run-${toWords(key)}`, pages.run, { params: { id }, who, ...picturedIf(key) });
  });
  const needsApproval = { params: { id: runs.needsApproval.id } };
  return [
    declare('runs', pages.runs, pictured),
    declare('runs-of-team', pages.runs, { query: { team_id: teams.payments.id } }),
    declare('runs-failed', pages.runs, { query: { status: ['failed', 'timed_out'] } }),
    declare('runs-empty', pages.runs, { who: 'nobody' }),
    declare('runs-none-found', pages.runs, { query: { status: 'timed_out', template_id: templates.flags.id } }),
    declare('runs-bad-filter', pages.runs, { query: { status: 'burned' }, answers: 400 }),
    ...named,
    declare('run-log-tab', pages.run, { params: { id: runs.colours.id }, query: { tab: 'log' }, ...pictured }),
    declare('run-events-tab', pages.run, { ...needsApproval, query: { tab: 'events' } }),
    declare('run-details-tab', pages.run, { params: { id: runs.destroyed.id }, query: { tab: 'details' } }),
    declare('run-outputs', pages.run, { params: { id: runs.colours.id }, query: { tab: 'details' } }),
    declare('run-reviewers', pages.runReviewers, { ...needsApproval, who: 'requester' }),
    declare('run-request-approval', pages.requestApproval, { ...needsApproval, who: 'requester' }),
    declare('run-plan-tab', pages.run, { ...needsApproval, query: { tab: 'plan' } }),
    declare('run-viewed', pages.run, { ...needsApproval, who: 'viewer' }),
    declare('run-of-strangers', pages.run, { ...needsApproval, who: 'fjordOwner', answers: 404 }),
    declare('run-delete', pages.deleteRun, { params: { id: runs.destroyed.id }, who: 'operator' }),
    declare('run-cancel', pages.cancelRun, needsApproval),
    declare('run-force-cancel', pages.forceCancelRun, { params: { id: runs.canceling.id }, who: 'operator' }),
    declare('run-requeue', pages.requeueRun, { params: { id: runs.failed.id } }),
    declare('approvals', pages.approvals, pictured),
    declare('approvals-empty', pages.approvals, { who: 'nobody' }),
    declare('approvals-hidden', pages.approvals, { who: 'requester', answers: 403 }),
  ];
}

/** The runs that the documentation has pictures of. */
function picturedIf(key: string) {
  return ['needsApproval', 'bigPlan', 'applying', 'failed'].includes(key) ? pictured : {};
}

/** The pages of instances, their resources and states, and of workers. */
export function instancePages({ runs, instances }: Installation): DeclaredPage[] {
  const { id } = runs.needsApproval.instance;
  const emptied = runs.destroyed.instance.id;
  const another =
    instances.find(({ name, environment }) => name === 'ledger-db' && environment.kind === 'production')?.id ?? id;
  const unfollowed =
    instances.find(({ name, environment }) => name === 'ledger' && environment.kind === 'staging')?.id ?? id;
  return [
    declare('instances', pages.instances, pictured),
    declare('instances-empty', pages.instances, { who: 'nobody' }),
    declare('instance', pages.instance, { params: { id }, ...pictured }),
    declare('instance-outputs', pages.instance, { params: { id: another }, query: { tab: 'outputs' } }),
    declare('instance-destroyed', pages.instance, { params: { id: emptied } }),
    declare('instance-states', pages.instance, { params: { id }, query: { tab: 'states' } }),
    declare('instance-deploy', pages.newRun, {
      params: { id: runs.followed.instance.template.id },
      query: { from_instance: runs.followed.instance.id },
    }),
    declare('instance-new', pages.newInstance),
    declare('instance-unlock', pages.unlockInstance, { params: { id }, who: 'operator' }),
    declare('instance-tool', pages.switchTool, { params: { id } }),
    declare('instance-import', pages.importState, { params: { id: emptied } }),
    declare('instance-forget-state', pages.forgetState, { params: { id: emptied }, who: 'admin' }),
    declare('instance-sharing', pages.instance, { params: { id }, query: { tab: 'sharing' } }),
    declare('instance-following', pages.instance, { params: { id: another }, query: { tab: 'sharing' } }),
    declare('instance-following-stopped', pages.instance, {
      params: { id: runs.followed.instance.id },
      query: { tab: 'sharing' },
    }),
    declare('instance-following-failed', pages.instance, { params: { id: unfollowed }, query: { tab: 'sharing' } }),
    declare('instance-unrecorded', pages.instance, { params: { id: runs.interrupted.instance.id } }),
    declare('instance-readers', pages.instanceReaders, { params: { id } }),
    declare('instance-follow', pages.instanceFollow, { params: { id } }),
    declare('instance-destroy', pages.destroyInstance, { params: { id } }),
    declare('instance-delete', pages.deleteInstance, { params: { id: emptied } }),
    declare('state-version', pages.stateVersion, { params: { id, serial: '1' } }),
    declare('compare-states', pages.compareStates, { params: { id }, query: { from: '1', to: '2' } }),
    declare('resources', pages.resources, pictured),
    declare('resources-empty', pages.resources, { who: 'nobody' }),
  ];
}

export function workerPages({ workerId }: Installation): DeclaredPage[] {
  const worker = { params: { id: workerId }, who: 'admin' as const };
  return [
    declare('workers', pages.workers, { who: 'admin', ...pictured }),
    declare('workers-hidden', pages.workers, { who: 'requester', answers: 403 }),
    declare('worker', pages.worker, worker),
    declare('worker-drain', pages.drainWorker, worker),
    declare('pool', pages.workerPool, { params: { name: 'cloud' }, who: 'admin' }),
    declare('pool-closed', pages.workerPool, { params: { name: 'payments-restricted' }, who: 'admin' }),
    declare('pool-new', pages.newWorkerPool, { who: 'admin' }),
    declare('pool-delete', pages.deleteWorkerPool, { params: { name: 'edge' }, who: 'admin' }),
    declare('apply-pause', pages.pauseApplies, { who: 'admin' }),
  ];
}

/** `needsApproval` becomes `needs-approval`. */
function toWords(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

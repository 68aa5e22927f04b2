import type { StatusReason } from '#domain/shared/vocabulary/run-reasons.ts';
import type { Run } from '../entity.ts';
import type { StatusDetail } from './status-detail.ts';

type Facts = Pick<Run, 'tool' | 'toolSwitch' | 'planSummary' | 'stateSerialAfter'>;

/** What the service adds to a reason that no worker reported. Reasons that are missing here explain themselves. */
const details: { readonly [Reason in StatusReason]?: (run: Facts) => string } = {
  switch_not_empty: ({ tool, toolSwitch, planSummary }) => {
    const used = tool ? `${tool.name} ${tool.version}` : (toolSwitch?.name ?? 'the other tool');
    const { add = 0, change = 0, destroy = 0 } = planSummary ?? {};
    return `the plan of ${used} would change something: ${add} to add, ${change} to change, ${destroy} to destroy`;
  },
  apply_interrupted: ({ stateSerialAfter = null }) =>
    stateSerialAfter === null
      ? 'the worker was lost while applying, before it had written a state: what it changed is recorded nowhere'
      : `the worker was lost while applying: the last state that it wrote has the serial ${stateSerialAfter}`,
  plan_interrupted: () => 'the worker was lost while planning, and so were those that tried again',
};

/** Explains in detail why the service ended a run; null if there are no details. */
export function serviceDetail(run: Facts, reason: StatusReason | null): StatusDetail | null {
  const describe = reason === null ? undefined : details[reason];
  return describe ? { message: describe(run), source: 'service' } : null;
}

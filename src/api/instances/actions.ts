import { actionsOf } from '#api/pipeline/actions.ts';
import type { InstanceDetails, InstanceTarget } from '#domain/instances/store.ts';
import { nothingToSwitch } from '#domain/runs/admission/tool-switch.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';

/** An instance with its owner. */
export type OwnedInstance = InstanceDetails &
  Ownership & {
    /** Whether its last deployment can be planned again with the same inputs. */
    readonly isPlannableAgain: boolean;
  };

const hasState = { message: 'the instance has a state already' };
const hasNoState = { message: 'the instance has no state' };
const isBusy = { message: 'a run is changing the instance: wait for it, or cancel it' };

/** What a caller may do with an instance. Undoing an import also depends on later runs. */
export const instanceActions = actionsOf<OwnedInstance>()({
  deploy: { operation: 'runs.create' },
  download_state: {
    operation: 'instances.download_state',
    findRefusal: ({ stateSerial }) => (stateSerial === 0 ? hasNoState : null),
  },
  import_state: {
    operation: 'instances.import_state',
    findRefusal: ({ stateSerial }) => (stateSerial === 0 ? null : hasState),
  },
  forget_state: {
    operation: 'instances.forget_state',
    findRefusal: ({ stateSerial, lockedByRunId }) => (stateSerial === 0 ? hasNoState : lockedByRunId ? isBusy : null),
  },
  switch_tool: {
    operation: 'instances.switch_tool',
    findRefusal: ({ isPlannableAgain, tool }) => (isPlannableAgain && tool ? null : nothingToSwitch),
  },
  set_readers: { operation: 'instances.set_readers' },
  set_follow: { operation: 'instances.set_follow' },
  unlock: {
    operation: 'instances.unlock',
    findRefusal: ({ lockedByRunId }) => (lockedByRunId ? null : { message: 'the instance is not locked' }),
  },
  delete: {
    operation: 'instances.delete',
    findRefusal: ({ resourceCount }) =>
      resourceCount === 0 ? null : { message: `the instance holds ${resourceCount} resources: destroy them first` },
  },
});

/** What a caller may do with the list of readers of an instance's outputs. */
export const readersActions = actionsOf<InstanceTarget>()({ replace: { operation: 'instances.set_readers' } });

/** What a caller may do with the setting that an instance follows the outputs that it reads. */
export const followActions = actionsOf<InstanceTarget>()({ replace: { operation: 'instances.set_follow' } });

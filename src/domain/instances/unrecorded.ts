import type { Instance } from './entity.ts';

/** Records that nothing is known any longer by which an instance differs from its last deployment. The instance is locked. */
export function clearUnrecorded(instance: Instance): void {
  if (instance.unrecordedRunId === null) return;
  instance.revision += 1;
  instance.unrecordedRunId = null;
  instance.unrecordedAt = null;
}

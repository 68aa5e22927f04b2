import type { Instance } from './entity.ts';

/** Removes the mark that an instance may differ from its last deployment. The caller has locked the instance. */
export function clearUnrecorded(instance: Instance): void {
  if (instance.unrecordedRunId === null) return;
  instance.revision += 1;
  instance.unrecordedRunId = null;
  instance.unrecordedAt = null;
}

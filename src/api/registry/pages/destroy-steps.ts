import type { RequestedOperation } from '#domain/shared/vocabulary/runs.ts';

type Spec = Readonly<Record<string, unknown>>;

/**
 * Whether a version supports an operation. Command templates can destroy only if they have steps for it, and cannot refresh, because they
 * have no state to refresh.
 */
export function supports(spec: Spec, operation: RequestedOperation): boolean {
  const executor = spec['executor'] as { kind?: string; destroy?: unknown } | undefined;
  if (executor?.kind !== 'command') return true;
  return operation !== 'refresh' && (operation !== 'destroy' || executor.destroy !== undefined);
}

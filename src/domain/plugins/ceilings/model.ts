/** An action of a ceiling. Its approval has an id of its own: if the action is removed and added again, the approval is a different one. */
export interface ApprovedAction {
  readonly name: string;
  readonly approval: string;
}

/** An execution of a ceiling, pinned to the approved release. */
export interface ApprovedExecution {
  readonly name: string;
  readonly release: string;
  readonly installation_revision: number;
}

/** The active release and the revision of an installation. */
interface Active {
  readonly activeRelease: string | null;
  readonly revision: number;
}

/** Whether a ceiling was set for the active release and revision. A stale one approves nothing. */
export function isCurrent(
  { release, installationRevision }: { readonly release: string; readonly installationRevision: number },
  { activeRelease, revision }: Active,
): boolean {
  return release === activeRelease && installationRevision === revision;
}

/**
 * Whether an execution of a ceiling is pinned to the active release and revision. A stale one is denied. (specification, *Plugin
 * authority*, rule 6)
 */
export function isPinnedToActive({ release, installation_revision }: ApprovedExecution, now: Active): boolean {
  return isCurrent({ release, installationRevision: installation_revision }, now);
}

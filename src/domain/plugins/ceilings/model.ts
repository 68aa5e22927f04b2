/** An action of a ceiling. Its approval has an id of its own: taken out and put in again, the action is another approval. */
export interface ApprovedAction {
  readonly name: string;
  readonly approval: string;
}

/** An execution of a ceiling, pinned to what was approved. */
export interface ApprovedExecution {
  readonly name: string;
  readonly release: string;
  readonly installation_revision: number;
}

/** What is active of an installation. */
interface Active {
  readonly activeRelease: string | null;
  readonly revision: number;
}

/** Whether a ceiling was set for what is active now. A stale one approves nothing. */
export function isCurrent(
  { release, installationRevision }: { readonly release: string; readonly installationRevision: number },
  { activeRelease, revision }: Active,
): boolean {
  return release === activeRelease && installationRevision === revision;
}

/** Whether an execution of a ceiling is pinned to what is active now. A stale one is denied. (specification, *Plugin authority*, rule 6) */
export function isPinnedToActive({ release, installation_revision }: ApprovedExecution, now: Active): boolean {
  return isCurrent({ release, installationRevision: installation_revision }, now);
}

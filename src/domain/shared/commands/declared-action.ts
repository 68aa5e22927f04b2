/** An action that the service performs by itself and records in the audit, as its area declares it. */
export interface DeclaredAction {
  /** What the service does. */
  readonly summary: string;
  readonly resourceType: string;
  /** The part of the service that does it: the name of the actor in the audit. */
  readonly actor: string;
}

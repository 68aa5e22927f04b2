/**
 * The memo with the id of the installation, in every workflow and schedule. It keeps those of another installation from being mistaken for
 * ours.
 */
export const installationMemo = 'installation_id';

/** A workflow or a schedule with this id exists, but another installation created it, or its input differs. */
export class ForeignWorkflow extends Error {
  constructor(id: string, kind: 'workflow' | 'schedule' = 'workflow') {
    super(`a ${kind} with the id ${id} exists that this installation did not start`);
    this.name = 'ForeignWorkflow';
  }
}

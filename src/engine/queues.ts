/** The task queue of workflows and of every activity that needs no pool. */
export const coordinatorQueue = 'coordinator';

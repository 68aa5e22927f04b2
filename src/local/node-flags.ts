/** A flag of Node: SIGUSR1 does not open a debugger on loopback, through which any user could run code in the process. */
export const withoutInspector = '--disable-sigusr1';

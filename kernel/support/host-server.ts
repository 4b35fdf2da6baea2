/**
 * The server that something belongs to. The kernel, which is above everything else, says in `kernel.ts` what that is; below it, nothing
 * imports it.
 */
// biome-ignore lint/suspicious/noEmptyInterface: open for the kernel
export interface HostServer {}

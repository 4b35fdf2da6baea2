/**
 * Ends this process when the script that runs it has ended. npm and yarn pass a signal to the shell in between, and only the shell
 * ends, so the server would keep its port for ever. A process that was started in another way may outlive its parent.
 */
export function endWithScript(): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 500).unref()
}

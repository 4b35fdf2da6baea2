/**
 * Ends this process when the script that runs it has ended. npm and yarn pass a signal on to the shell between, which dies of
 * it alone, and the server would keep its port for good. What was started otherwise may outlive who started it.
 */
export function endWithScript(): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 500)
  timer.unref()
}

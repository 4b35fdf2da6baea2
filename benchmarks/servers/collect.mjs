import process from 'node:process'

// Loaded before every server under load, so that a signal makes it collect its garbage.
process.on('SIGUSR2', () => {
  /** @type {{ gc?: () => void }} */
  globalThis.gc?.()
})

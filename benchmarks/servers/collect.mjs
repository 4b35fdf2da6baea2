import process from 'node:process'

// Loaded in front of every server that is put under load: it is told when to collect its garbage.
process.on('SIGUSR2', () => {
  /** @type {{ gc?: () => void }} */
  globalThis.gc?.()
})

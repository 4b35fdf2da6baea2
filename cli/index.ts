#!/usr/bin/env node
import { main } from './main.ts'

// Exits explicitly: an application that was loaded may have connections and timers that would keep the process alive.
process.exit(await main(process.argv.slice(2), process))

// The same on every version of Node.js.
import './command-runtimes.test.ts'

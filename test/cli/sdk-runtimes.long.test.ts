// The same on every version of Node.js.
import './sdk-runtimes.test.ts'

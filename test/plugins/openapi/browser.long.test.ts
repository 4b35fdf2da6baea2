// The same with all rules of axe in each colour scheme and at each width, and with each policy.
import './browser.test.ts'

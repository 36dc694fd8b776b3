// Loaded before an original action: its clock shows PARITY_NOW.
const offset = Date.parse(process.env.PARITY_NOW) - Date.now();
const RealDate = Date;
global.Date = class Date extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + offset);
    else super(...args);
  }
  static now() {
    return RealDate.now() + offset;
  }
};

// Old versions know only the address api.github.com: their requests go to GITHUB_API_URL.
const http = require('http');
const https = require('https');
const realRequest = https.request;
https.request = function (options, ...rest) {
  if (!String(options.hostname || options.host || '').startsWith('api.github.com')) return realRequest.call(this, options, ...rest);
  const api = new URL(process.env.GITHUB_API_URL);
  const headers = {...options.headers, host: api.host};
  return http.request({...options, headers, agent: undefined, protocol: api.protocol, host: api.hostname, hostname: api.hostname, port: api.port}, ...rest);
};

// Watches the requests of a browser's context. The function that it returns tells the addresses of those that
// left the browser. What a policy holds back is a request too, and it fails without an error of the network.
"use strict";

function left(context) {
  const requests = [];
  context.on("request", (request) => requests.push(request));
  return async (page) => {
    const home = new URL(page).origin;
    // Whether another server's was held back is known once it has ended.
    const others = requests.filter((request) => new URL(request.url()).origin !== home);
    await Promise.all(others.map((request) => request.response().catch(() => null)));
    const isHeld = (failure) => failure !== null && !failure.errorText.startsWith("net::");
    return requests.filter((request) => !isHeld(request.failure())).map((it) => it.url());
  };
}

module.exports = { left };
